// Browsers differ in what they allow: the newer way needs a secure page and a permission, the older one a selection.
export const toClipboard = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (refused) {
    console.debug("the clipboard is not to be had directly", refused);
  }
  try {
    return document.execCommand("copy");
  } catch (refused) {
    return false;
  }
};
