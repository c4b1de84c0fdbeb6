// Views answer what they are sent once in so many milliseconds.
export const ANSWER_MS = 12000;

// What the page says to the kernel. One that has gone hears nothing, and what is on the page stays.
export function tellKernel(model, message, buffers = []) {
  try {
    model.send(message, undefined, buffers);
  } catch (error) {
    console.debug("the kernel does not answer", error);
  }
}
