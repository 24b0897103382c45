// A bound on what a server holds at once: reading stops while too many requests, or too many bytes, await their reply.

export class Gate {
  private readonly maxCount: number;
  private readonly maxBytes: number;
  private count = 0;
  private bytes = 0;
  private waiting: (() => void)[] = [];

  constructor(maxCount: number, maxBytes: number) {
    this.maxCount = maxCount;
    this.maxBytes = maxBytes;
  }

  get full(): boolean {
    return this.count >= this.maxCount || this.bytes >= this.maxBytes;
  }

  /** Counts one more; the result gives it back, and does so only once. */
  enter(bytes: number): () => void {
    this.count += 1;
    this.bytes += bytes;
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      this.count -= 1;
      this.bytes -= bytes;
      if (!this.full) this.release();
    };
  }

  /** Resolves when there is room. */
  async room(): Promise<void> {
    while (this.full) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private release(): void {
    const woken = this.waiting;
    this.waiting = [];
    for (const wake of woken) wake();
  }
}
