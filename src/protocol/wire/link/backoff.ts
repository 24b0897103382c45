// Waiting times between dials: growing, bounded and random, so that a thousand minions do not return in one instant.

export class Backoff {
  private readonly minMs: number;
  private readonly maxMs: number;
  private last = 0;

  constructor(minMs: number, maxMs: number) {
    this.minMs = Math.max(1, minMs);
    this.maxMs = Math.max(this.minMs, maxMs);
  }

  /** The next wait: somewhere between the minimum and three times the last one. */
  next(): number {
    const ceiling = Math.min(this.maxMs, Math.max(this.minMs, this.last) * 3);
    this.last = this.minMs + Math.random() * (ceiling - this.minMs);
    return this.last;
  }

  reset(): void {
    this.last = 0;
  }
}
