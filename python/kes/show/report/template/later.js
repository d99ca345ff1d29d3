// Parts of the page are made when they come near the screen, or when there is nothing else to do: so the
// page opens at once, however much is in it.

const waiting = new Map();

const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) if (isIntersecting) make(target);
}, { rootMargin: "400px" });

function make(place) {
  const build = waiting.get(place);
  if (!build) return;
  waiting.delete(place);
  watcher.unobserve(place);
  build();
}

export function whenNear(place, build) {
  waiting.set(place, build);
  watcher.observe(place);
}

// On paper all of it is needed.
export function makeAll() {
  [...waiting.keys()].forEach(make);
}

function makeRest() {
  const [next] = waiting.keys();
  if (!next) return;
  make(next);
  setTimeout(makeRest, 50); // between two parts the page can react
}

addEventListener("load", () => setTimeout(makeRest, 800));
addEventListener("beforeprint", makeAll);
matchMedia("print").addEventListener("change", makeAll);
