// The third step: start a search and watch it.

import { bdi, button, element } from "../../show/report/template/dom.js";
import { get, part, post } from "./api.js";
import { progressText } from "./job-text.js";
import { LiveView } from "./live-view.js";
import { attempt, busyButton, message } from "./messages.js";
import { costText } from "./nats.js";
import { optionForm } from "./option-form.js";
import { store } from "./store.js";
import { checkTable, problemMessage } from "./table-check.js";

const PAUSE = 400; // milliseconds between two looks at the progress

export async function showLearn(place) {
  const hasTable = store.draft.file || store.draft.example;
  const start = element("section", { class: "panel" }, element("h1", {}, "Learn"));
  if (hasTable) start.append(...startParts(place));
  else start.append(element("p", {}, "Choose a table first."));
  place.append(start);
  const watched = element("div");
  place.append(watched);
  const view = new JobView(watched);
  await view.showLast();
  return () => view.leave();
}

function startParts() {
  const name = store.draft.file ?? "the built-in example";
  const problem = element("div", { id: "problem", role: "status" });
  const learn = busyButton(
    "Learn",
    async () => {
      if (problem.hasChildNodes()) throw new Error("First choose how to mend the table.");
      const job = await post("learn", { draft: store.draft });
      document.dispatchEvent(new CustomEvent("kes-job", { detail: job }));
    },
    { class: "main" },
  );
  showProblem(problem);
  const known = Object.keys(store.draft.knowledge ?? {}).length;
  const text = element("span", { class: "count" }, "from ", bdi(name));
  text.append(known ? ", with what you know." : ". It takes about ten seconds for most tables.");
  return [problem, element("div", { class: "next" }, learn, text), optionForm()];
}

// What makes a search fail at once, with the buttons that mend it.
async function showProblem(place) {
  const found = await checkTable();
  const shown = found?.problem ? [problemMessage(found.problem, () => showProblem(place))] : [];
  place.replaceChildren(...shown);
}

// The jobs: the one that is watched, and what waits.
class JobView {
  constructor(place) {
    this.place = place;
    this.isGone = false;
    this.round = 0;
    this.listen = ({ detail }) => {
      this.watch(detail.id);
      this.place.scrollIntoView({ block: "nearest" });
    };
    document.addEventListener("kes-job", this.listen);
  }

  leave() {
    this.isGone = true;
    document.removeEventListener("kes-job", this.listen);
  }

  async showLast() {
    const jobs = await get("jobs");
    const active = jobs.find(({ state }) => state === "running");
    const last = active ?? jobs.find(({ state }) => state === "queued") ?? jobs.at(-1);
    if (last) this.watch(last.id);
  }

  async watch(id) {
    this.round += 1;
    const own = this.round;
    const head = element("div");
    const live = new LiveView();
    const waiting = element("div");
    this.place.replaceChildren(
      element("section", { class: "panel", id: "job", "aria-live": "polite" }, head, live.view),
      waiting,
    );
    let position = 0;
    let shown = "";
    while (!this.isGone && own === this.round) {
      const found = await attempt(() => get(`jobs/${id}?from=${position}`));
      if (!found) return;
      const { job, lines } = found;
      position = found.position;
      live.add(lines, job);
      const state = JSON.stringify([job.state, job.stopping, live.last?.done, live.last?.unit]);
      if (state !== shown) head.replaceChildren(...this.head(job, live.last));
      shown = state;
      await this.showWaiting(waiting, id);
      if (!["queued", "running"].includes(job.state)) {
        await live.finish(job);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }

  head(job, last) {
    const parts = [element("h2", {}, `${job.title}: `, bdi(job.out))];
    if (job.state === "queued") parts.push(element("p", {}, "Waits for the job before it."));
    if (job.state === "running") parts.push(...running(job, last));
    if (job.state === "done") parts.push(...done(job));
    if (job.state === "stopped") parts.push(...stopped(job, () => this.again(job)));
    if (job.state === "failed") {
      const fixes = [
        { label: job.exists ? "Go on from there" : "Try again", action: () => this.again(job) },
      ];
      parts.push(message(job.message || "The search failed.", { fixes }));
      parts.push(element("p", {}, element("a", { href: "#table" }, "Look at the table")));
    }
    return parts;
  }

  async again(job) {
    await attempt(() => post(`jobs/${job.id}`, { do: "again" }));
    this.watch(job.id);
  }

  async showWaiting(place, watched) {
    const others = store.server.jobs.filter(
      ({ id, state }) => id !== watched && ["queued", "running"].includes(state),
    );
    place.replaceChildren(
      ...others.map((job) =>
        element(
          "p",
          { class: "panel" },
          `${job.title}: ${job.out}, ${job.state} `,
          button("Show", () => this.watch(job.id)),
        ),
      ),
    );
  }
}

function running(job, last) {
  const bar = { "aria-label": "Progress" };
  if (last?.wanted)
    Object.assign(bar, { max: last.wanted, value: Math.min(last.done, last.wanted) });
  const text = last ? progressText(last) : "Reading the table…";
  const stop = button(
    "Stop, and keep what was found",
    () => attempt(() => post(`jobs/${job.id}`, { do: "stop" })),
    job.stopping ? { disabled: "" } : {},
  );
  return [
    element("progress", bar),
    element("div", { class: "next" }, element("span", {}, text), stop),
    element("p", { class: "hint" }, "You may close the browser: the search goes on."),
  ];
}

function resultLink(job, text) {
  return element("a", { href: `#result/${part(job.out)}` }, text);
}

function done(job) {
  const parts = [element("div", { class: "next" }, resultLink(job, "See the result"))];
  if (job.before) {
    const cost = element("p", { role: "status" }, "Comparing…");
    parts.push(cost);
    compareBefore(job, cost);
  }
  return parts;
}

async function compareBefore(job, cost) {
  const found = await attempt(() =>
    post(`results/${part(job.before)}/compare`, { other: job.out }),
  );
  if (!found) return;
  cost.textContent = costText(found, job.before);
}

function stopped(job, again) {
  if (!job.exists) {
    const text = element("span", {}, "Stopped before anything was found.");
    return [element("div", { class: "next" }, text, button("Start again", again))];
  }
  const text = element("span", {}, "Stopped. What was found is kept.");
  return [
    element("div", { class: "next" }, resultLink(job, "See the result"), text),
    element("p", {}, button("Go on from there", again)),
  ];
}
