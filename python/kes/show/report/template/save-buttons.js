// The buttons that save the network: as a picture, or fitted in a file format.

import { fitCommand } from "./commands.js";
import { data, fileName, nameOf } from "./data.js";
import { byId, element, on } from "./dom.js";
import { save, savePng, saveSvg } from "./download.js";
import { toBif, toJson, whyNotSaved } from "./export.js";
import { currentModel, state } from "./state.js";

const FORMATS = {
  bif: { write: toBif, type: "text/plain" },
  json: { write: toJson, type: "application/json" },
};

// Show the buttons that work for the current model; for others, a command that does the same.
export function updateSaveButtons() {
  const index = currentModel();
  for (const format of Object.keys(FORMATS)) {
    const button = byId(`save-${format}`);
    button.hidden = button.disabled = Boolean(whyNotSaved(index, format));
  }
  byId("save-note").replaceChildren(...note(index));
}

function note(index) {
  const reason = whyNotSaved(index, "bif");
  if (!reason) return [`BIF and JSON contain the fitted ${nameOf(index)}.`];
  // A discrete network is written as BIF; so is another one if the page itself can save it as JSON.
  const format = data.files.bif || !whyNotSaved(index, "json") ? "bif" : "json";
  return [`${reason} In a shell: `, element("code", {}, fitCommand(index, format))];
}

// `showPicture` switches to a view with a single picture and returns the viewport.
export function listenSaveButtons(showPicture) {
  const savePicture = (write) => {
    const { picture, size } = showPicture();
    write(picture, size, `${data.stem}-${state.view === "optimum" ? "network" : state.view}`);
  };
  on("save-svg", "click", () => savePicture(saveSvg));
  on("save-png", "click", () => savePicture(savePng));
  for (const [format, { write, type }] of Object.entries(FORMATS)) {
    on(`save-${format}`, "click", () => {
      const index = currentModel();
      if (!whyNotSaved(index, format)) save(fileName("network", format), [write(index)], type);
    });
  }
}
