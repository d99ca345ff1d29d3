// Take knowledge from the picture: an edge that is clicked in the report becomes a statement, the
// search is done again, and the page says what the statement costs.

import { bdi, element } from "../../show/report/template/dom.js";
import { get, part, post } from "./api.js";
import { busyButton } from "./messages.js";
import { choice } from "./table-settings.js";
import { withPair } from "./tier-board.js";

export class PictureKnowledge {
  constructor(summary, frame) {
    this.summary = summary;
    this.frame = frame;
    this.names = new Set(summary.names);
    this.a = choice("From", summary.names, summary.names[0], {});
    this.b = choice("To", summary.names, summary.names[1] ?? summary.names[0], {});
    for (const { select } of [this.a, this.b]) {
      for (const option of select.options) option.textContent = option.value;
      select.addEventListener("change", () => this.offer());
    }
    this.statements = element("div", { class: "chips" });
    const hint =
      "Click an edge in the picture, or choose two variables. The search is done again with your " +
      "statement, and you see what it costs in nats: up to about 3 the data hardly object.";
    this.view = element(
      "section",
      { class: "panel", id: "picture-knowledge", "aria-labelledby": "picture-heading" },
      element("h2", { id: "picture-heading" }, "Does an arrow look wrong?"),
      element("p", { class: "hint" }, hint),
      element("div", { class: "controls" }, this.a.label, this.b.label),
      this.statements,
    );
    this.hear = (event) => {
      if (event.source !== this.frame.contentWindow) return;
      const edge = event.data?.kes?.edge;
      if (!Array.isArray(edge) || !edge.every((name) => this.names.has(name))) return;
      this.choose(edge);
      this.view.scrollIntoView({ block: "nearest" });
    };
    window.addEventListener("message", this.hear);
    this.offer();
  }

  leave() {
    window.removeEventListener("message", this.hear);
  }

  // In the direction that the best network has.
  choose([x, y]) {
    const isBackward = this.summary.directed.some(([from, to]) => from === y && to === x);
    [this.a.select.value, this.b.select.value] = isBackward ? [y, x] : [x, y];
    this.offer();
  }

  offer() {
    const [a, b] = [this.a.select.value, this.b.select.value];
    if (a === b) {
      this.statements.replaceChildren(element("p", {}, "Choose two different variables."));
      return;
    }
    const made = (text, name, pair) => {
      const label = element("span", {}, ...text);
      return busyButton(label, () => this.learn(name, pair));
    };
    this.statements.replaceChildren(
      made([bdi(a), " → ", bdi(b), " must be there"], "required", [a, b]),
      made([bdi(b), " → ", bdi(a), " must be there"], "required", [b, a]),
      made([bdi(a), " → ", bdi(b), " must not be there"], "forbidden", [a, b]),
      made(["No edge between ", bdi(a), " and ", bdi(b)], "apart", [a, b]),
    );
  }

  async learn(name, pair) {
    const draft = await get(`results/${part(this.summary.name)}/draft`);
    const knowledge = withPair(draft.knowledge ?? {}, name, pair);
    await post("learn", { draft: { ...draft, knowledge }, before: this.summary.name });
    location.hash = "#learn";
  }
}
