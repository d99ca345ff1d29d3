// Browsers do not start workers from local files. There, an empty frame does the work of the search
// worker.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.ready = new Promise((loaded) => this.frame.addEventListener("load", loaded, { once: true }))
        .then(() => this.furnish())
        .then(() => this.run(url));
      document.body.append(this.frame);
    }

    // Globals that worker scripts have and page scripts do not.
    furnish() {
      const scope = this.frame.contentWindow;
      scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      scope.importScripts = async (...urls) => {
        for (const url of urls) await this.run(url);
      };
    }

    run(url) {
      const script = this.frame.contentDocument.createElement("script");
      script.src = url;
      return new Promise((loaded, failed) => {
        script.onload = loaded;
        script.onerror = failed;
        this.frame.contentDocument.body.append(script);
      });
    }

    async postMessage(data) {
      await this.ready;
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
