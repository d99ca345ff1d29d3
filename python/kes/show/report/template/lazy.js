// Build parts of the page when they come near the screen, or when the browser has nothing else to
// do: the page opens quickly, however much it holds.

const waiting = new Map();

const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) build(target);
  },
  { rootMargin: "400px" },
);

// Build a part now, if it still waits.
export function build(place) {
  const action = waiting.get(place);
  if (!action) return;
  waiting.delete(place);
  observer.unobserve(place);
  action();
}

export function whenNear(place, action) {
  waiting.set(place, action);
  observer.observe(place);
}

function buildAll() {
  for (const place of [...waiting.keys()]) build(place);
}

function buildNext() {
  const [next] = waiting.keys();
  if (!next) return;
  build(next);
  setTimeout(buildNext, 50); // the page can react in between
}

addEventListener("load", () => setTimeout(buildNext, 800));
addEventListener("beforeprint", buildAll);
matchMedia("print").addEventListener("change", buildAll);
