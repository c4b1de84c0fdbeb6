import { render } from "./modules.js";

// What every widget carries in place of its own module.

export default { render };
