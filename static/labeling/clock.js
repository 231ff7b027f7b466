// Seconds of real work: counted only with input in the last 30 s and a visible tab.

const IDLE_MS = 30_000;
const INPUT = ["keydown", "pointerdown", "pointermove", "wheel", "input"];

export class ActiveTime {
  /**
   * @param {number} seconds
   * @param {AbortSignal} signal ends the counting
   */
  constructor(seconds, signal) {
    this.seconds = seconds;
    this.lastInput = -Infinity;
    const seen = () => (this.lastInput = performance.now());
    for (const type of INPUT) addEventListener(type, seen, { capture: true, passive: true, signal });
    const timer = setInterval(() => this.tick(), 1_000);
    signal.addEventListener("abort", () => clearInterval(timer));
  }

  tick() {
    const isActive = performance.now() - this.lastInput < IDLE_MS;
    if (isActive && document.visibilityState === "visible") this.seconds += 1;
  }
}
