// Jobs in words.

export function jobText(job) {
  const what = `${job.title}: ${job.out}`;
  if (job.state === "queued") return `${what}, waiting`;
  if (job.state === "running") return `${what}, ${job.stopping ? "stopping" : "running"}`;
  return `${what}, ${{ done: "done", stopped: "stopped", failed: "failed" }[job.state]}`;
}

// A duration such as 0:07, 12:05 or 1:00:00.
export function clock(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  const rest = String(whole % 60).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

const UNITS = {
  steps: "steps of the first greedy search",
  runs: "runs",
  tasks: "attempts to improve",
  sets: "sets of variables for the proof",
  sweeps: "rounds of filling in missing cells",
  questions: "questions about edges",
};

// Describe a running search by its last progress.
export function progressText({ done, wanted, unit, left }) {
  const amount = wanted ? `${done} of ${wanted}` : `${done}`;
  const rest = left === null ? "" : `, about ${clock(left)} left`;
  return `${amount} ${UNITS[unit] ?? unit}${rest}`;
}

// The best score over time: a point whenever it rises, and the last moment. The clock of a search
// starts again with each of its parts.
export function rises(lines) {
  const points = [];
  let [before, last] = [0, 0];
  for (const { best, seconds } of lines) {
    if (seconds < last) before += last;
    last = seconds;
    const at = before + seconds;
    if (best === null) continue;
    if (!points.length || best > points.at(-1).best) points.push({ best, seconds: at });
  }
  if (points.length && before + last > points.at(-1).seconds) {
    points.push({ best: points.at(-1).best, seconds: before + last });
  }
  return points;
}
