// Views of one group show what is pointed at in another: an iteration, and a kernel by its name in code.

const EVENT = "wb-pointed";

// show({iteration, kernel}) receives what another view of the model's group points at; both are null where it is nothing.
export function linked(model, show) {
  const own = {};
  let latest = JSON.stringify([null, null]);
  const hear = ({ detail }) => {
    if (detail.from !== own && detail.group === model.get("group")) show(detail);
  };
  document.addEventListener(EVENT, hear);
  return {
    tell(iteration = null, kernel = null) {
      const [group, text] = [model.get("group"), JSON.stringify([iteration, kernel])];
      if (!group || text === latest) return;
      latest = text;
      document.dispatchEvent(new CustomEvent(EVENT, { detail: { from: own, group, iteration, kernel } }));
    },
    close: () => document.removeEventListener(EVENT, hear),
  };
}
