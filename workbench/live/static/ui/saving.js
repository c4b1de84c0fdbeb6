// A file for the browser's downloads, from bytes that are here already.

const TYPES = { csv: "text/csv", json: "application/json", pdf: "application/pdf", png: "image/png", svg: "image/svg+xml", zip: "application/zip" };
const PATIENCE = 60000;

export function saveAs(name, bytes) {
  const type = TYPES[name.split(".").at(-1)] ?? "application/octet-stream";
  const address = URL.createObjectURL(new Blob([bytes], { type }));
  const anchor = document.createElement("a");
  [anchor.href, anchor.download, anchor.hidden] = [address, name, true];
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  // The browser may still be reading.
  setTimeout(() => URL.revokeObjectURL(address), PATIENCE);
}
