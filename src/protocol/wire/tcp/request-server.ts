// The master's request port over TCP: many requests per connection, matched by the head that the reply repeats.
import type { Socket } from 'node:net';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import { defaultMaxMessageBytes, maxOutstanding, serverError } from '../link/answers.ts';
import { Gate } from '../link/gate.ts';
import type { ListenOptions, RequestHandler, RequestServer, WireProblem } from '../transport.ts';
import { frameStart, joinFrame, splitFrame } from './frame.ts';
import { FrameReader } from './frame-reader.ts';
import { listenStream } from './listen.ts';

// A frame that does not continue, or a reply that is not taken, for this long belongs to a dead or hostile peer.
const STALLED_MS = 30_000;
const MAX_PER_CONNECTION = 512;
// Larger replies are not copied into one buffer with their head.
const JOINED_BYTES = 64 * 1024;
const MAX_UNSENT_BYTES = 256 * 1024 * 1024;
// All unfinished frames together, in multiples of the largest one: many slow senders must not fill the memory.
const MAX_UNFINISHED_FRAMES = 4;

interface Shared {
  readonly limit: number;
  readonly handler: RequestHandler;
  readonly gate: Gate;
  readonly onProblem: (kind: WireProblem['kind'], peer: string, detail: string) => void;
  unfinished: number;
}

export async function listenRequests(options: ListenOptions, handler: RequestHandler): Promise<RequestServer> {
  const shared: Shared = {
    limit: options.maxMessageBytes ?? defaultMaxMessageBytes,
    handler,
    gate: new Gate(maxOutstanding.count, maxOutstanding.bytes),
    onProblem: (kind, peer, detail) => options.onProblem?.({ kind, peer, detail }),
    unfinished: 0,
  };
  return listenStream(options, (socket, peer) => new RequestConnection(socket, peer, shared));
}

class RequestConnection {
  private readonly socket: Socket;
  private readonly peer: string;
  private readonly shared: Shared;
  private readonly reader: FrameReader;
  private outstanding = 0;
  private unfinished = 0;

  constructor(socket: Socket, peer: string, shared: Shared) {
    this.socket = socket;
    this.peer = peer;
    this.shared = shared;
    // Room for the head around the largest body.
    this.reader = new FrameReader(shared.limit + 8192);
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    socket.on('close', () => this.count(0));
    socket.setTimeout(STALLED_MS, () => {
      // When we stopped reading, the silence is ours.
      if (socket.isPaused()) return;
      if (this.reader.pending > 0 || socket.writableLength > 0) this.cut('idle', 'stalled in a message');
    });
  }

  private take(chunk: Buffer): void {
    try {
      for (const frame of this.reader.feed(chunk)) this.serve(frame);
    } catch (thrown) {
      const code = (thrown as { code?: string }).code;
      this.cut(code === 'codec.limit' ? 'too-large' : 'malformed', messageOf(thrown));
      return;
    }
    this.count(this.reader.pending);
    if (this.shared.unfinished > this.shared.limit * MAX_UNFINISHED_FRAMES) {
      this.cut('overload', 'too many unfinished messages at once');
    } else if (this.outstanding >= MAX_PER_CONNECTION || this.shared.gate.full) {
      this.socket.pause();
      void this.shared.gate.room().then(() => this.resume());
    }
  }

  private count(pending: number): void {
    this.shared.unfinished += pending - this.unfinished;
    this.unfinished = pending;
  }

  private serve(bytes: Buffer): void {
    const frame = splitFrame(bytes);
    if (!frame) throw new HaliteError('codec.malformed', 'A frame has no head or no body');
    const leave = this.shared.gate.enter(frame.body.length);
    this.outstanding += 1;
    let answered = false;
    const reply = (payload: Uint8Array) => {
      if (answered) return;
      answered = true;
      this.outstanding -= 1;
      leave();
      this.write(frame.head, payload);
      this.resume();
    };
    try {
      this.shared.handler({ payload: frame.body, peer: this.peer, reply });
    } catch (thrown) {
      this.shared.onProblem('handler', this.peer, messageOf(thrown));
      reply(serverError);
    }
  }

  private write(head: Buffer, payload: Uint8Array): void {
    const { socket } = this;
    if (socket.destroyed) return;
    if (payload.length < JOINED_BYTES) socket.write(joinFrame(head, payload));
    else {
      socket.cork();
      socket.write(frameStart(head));
      socket.write(payload);
      socket.uncork();
    }
    if (this.socket.writableLength > MAX_UNSENT_BYTES) this.cut('slow', 'does not take its replies');
  }

  private resume(): void {
    if (!this.socket.isPaused() || this.shared.gate.full) return;
    if (this.outstanding < MAX_PER_CONNECTION / 2) this.socket.resume();
  }

  private cut(kind: WireProblem['kind'], detail: string): void {
    if (this.socket.destroyed) return;
    this.socket.destroy();
    this.shared.onProblem(kind, this.peer, detail);
  }
}
