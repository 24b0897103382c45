// Progress of a job for whoever watches it: the first line immediately, then the newest at intervals.

const everyMs = 200;

export interface PacedProgress {
  say(text: string): void;
  end(): void;
}

export function pacedProgress(send: (text: string) => void): PacedProgress {
  let waiting: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    if (waiting === undefined) return;
    send(waiting);
    waiting = undefined;
    timer = setTimeout(flush, everyMs).unref();
  };
  return {
    say(text) {
      waiting = text;
      if (!timer) flush();
    },
    end: () => clearTimeout(timer),
  };
}
