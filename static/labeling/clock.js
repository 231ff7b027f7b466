// Seconds of real work: counted only with input in the last 30 s and a visible tab.

const IDLE_MS = 30_000;
const INPUT = ["keydown", "pointerdown", "pointermove", "wheel", "input"];

export class ActiveTime {
  /** @param {number} seconds */
  constructor(seconds) {
    this.seconds = seconds;
    this.lastInput = -Infinity;
    const seen = () => (this.lastInput = performance.now());
    for (const type of INPUT) addEventListener(type, seen, { capture: true, passive: true });
    setInterval(() => this.tick(), 1_000);
  }

  tick() {
    const isActive = performance.now() - this.lastInput < IDLE_MS;
    if (isActive && document.visibilityState === "visible") this.seconds += 1;
  }
}
