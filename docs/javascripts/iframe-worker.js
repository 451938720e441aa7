// Pages that are read as files may not start workers. There the search runs in a hidden frame that behaves as one.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = this.frame = document.createElement("iframe");
      const escaped = String(new URL(url, document.baseURI)).replace(/&/g, "&amp;").replace(/"/g, "&quot;");
      frame.hidden = true;
      // What its script posts goes to the page; importScripts loads more of them, one after the other.
      frame.srcdoc = `<!doctype html><script>
        postMessage = data => frameElement.dispatchEvent(new CustomEvent("answer", { detail: data }));
        importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((done, failed) => {
          const script = document.createElement("script");
          script.src = url; script.onload = done; script.onerror = failed;
          document.body.append(script);
        })), Promise.resolve());
      <\/script><body><script src="${escaped}"><\/script>`;
      this.ready = new Promise(done => frame.addEventListener("load", done, { once: true }));
      frame.addEventListener("answer", ({ detail }) => {
        const event = new MessageEvent("message", { data: detail });
        this.dispatchEvent(event);
        this.onmessage?.(event);
      });
      document.body.append(frame);
    }
    postMessage(data) {
      this.ready.then(() => {
        const inside = this.frame.contentWindow, event = new inside.MessageEvent("message", { data });
        inside.dispatchEvent(event);
      });
    }
    terminate() { this.frame.remove(); }
  };
}
