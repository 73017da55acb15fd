// Search runs in a worker, which a browser refuses to a page that was opened from a file. Such pages run it in a
// hidden frame instead. The name begins with "iframe-worker" so that Zensical takes this file for the shim that it
// would otherwise have every page load from the network.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inner = frame.contentWindow;
      inner.document.open();
      inner.document.write(
        `<script>postMessage = (data) => parent.postMessage(data, "*");</script>
        <script src="${url}"></script>`,
      );
      inner.document.close();
      this.loaded = new Promise((resolve) => {
        inner.addEventListener("load", resolve, { once: true });
      });
      this.inner = inner;
      this.frame = frame;
      window.addEventListener("message", (event) => {
        if (event.source === inner) {
          const message = new MessageEvent("message", { data: event.data });
          this.dispatchEvent(message);
          this.onmessage?.(message);
        }
      });
    }

    async postMessage(data) {
      await this.loaded;
      // what the frame calls postMessage is taken, so it is told by an event
      this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data }));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
