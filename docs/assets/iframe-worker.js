// A page that is opened from a folder may start no Worker. The search of the manual needs one, so that from a folder a
// hidden frame takes its place: it loads the worker's script, and messages go both ways as they do with a Worker.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...addresses) => addresses.reduce(
        (before, next) => before.then(() => load(inside.document, next)), Promise.resolve());
      this.inside = inside;
      this.ready = load(inside.document, address);
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.inside.frameElement.remove();
    }
  };
}

function load(page, address) {
  return new Promise((resolve, reject) => {
    const script = page.createElement("script");
    script.src = address;
    script.onload = () => resolve();
    script.onerror = () => reject(new Error(`${address} can't be loaded`));
    page.head.append(script);
  });
}
