// The data of the page, written by Python, and the names of what is in it.
//
// Variables, pairs of variables and models are numbered; "Optimum 3" is optima[3] in Python.

export const data = JSON.parse(document.getElementById("data").textContent);

// The measure behind the width of edges and the consensus: "evidence", or a kind of support.
export const strengthKinds = Object.keys(data.supports);

// The kinds of support of an edge that the page has, such as "search".
export const supportKinds = strengthKinds.filter((kind) => kind !== "evidence");

export function isContinuous(node) {
  return data.states[node].length === 0;
}

export function nameOf(index) {
  return `Optimum ${data.optima[index].number}`;
}

// The name of a model with its roles, such as "Optimum 3 (best run, GES)".
export function titleOf(index) {
  const roles = [];
  if (index === data.best) roles.push("best");
  else if (index === data.best_run) roles.push("best run");
  if (index === data.ges) roles.push("GES");
  return nameOf(index) + (roles.length ? ` (${roles.join(", ")})` : "");
}

// The name of a file to save: the source of the data, then the contents.
export function fileName(contents, suffix) {
  return `${data.stem}-${contents}.${suffix}`;
}
