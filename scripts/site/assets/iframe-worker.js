// Browsers start no worker from a file. The search of a site that is opened from a disk runs in a hidden frame instead,
// which the theme's script for it knows by the name IFrameWorker.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = this.onerror = null;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      window.addEventListener("message", ({ data, source }) => {
        if (source !== this.inside) return;
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        this.onmessage?.(event);
      });
      const { document: page } = this.inside;
      page.open();
      page.write(`<script>
        var postMessage = (data) => parent.postMessage(data, "*");
        var importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((done, failed) => {
          const script = Object.assign(document.createElement("script"), { src: url, onload: done, onerror: failed });
          document.body.append(script);
        })), Promise.resolve());
      </` + `script><body><script src="${url}"></` + `script>`);
      page.close();
    }
    postMessage(data) {
      // Until its script has come, nothing in the frame listens.
      const send = () => this.inside.dispatchEvent(new MessageEvent("message", { data }));
      if (this.inside.document.readyState === "complete") send();
      else this.inside.addEventListener("load", send, { once: true });
    }
    terminate() {
      this.inside.frameElement.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
