// Where machines that are no members yet ask to become one. Anybody with access to the nats-servers can ask: little is
// read, few are answered at a time, and what is said is believed only with the code of an invitation.

import type { NewcomerHandler } from '../api.ts';
import { joinSubject, mostRequestBytes } from '../joining/messages.ts';
import type { Connection } from './connection.ts';
import type { Core } from './core.ts';

const mostAtOnce = 4;

export class Newcomers {
  readonly #core: Core;
  #handler: NewcomerHandler | undefined;
  #busy = 0;

  constructor(core: Core) {
    this.#core = core;
  }

  onNewcomer(handler: NewcomerHandler): void {
    this.#handler = handler;
  }

  listen({ nc }: Connection): void {
    nc.subscribe(joinSubject(this.#core.options.name), {
      callback: (error, { data, reply }) => {
        if (error || !this.#handler || reply === undefined || !/^_INBOX\.[\w.]+$/.test(reply)) return;
        if (data.length > mostRequestBytes || this.#busy >= mostAtOnce) {
          this.#core.refused('newcomer', 'wrong');
          return;
        }
        this.#busy += 1;
        void this.#handler(data)
          .then((answer) => {
            if (answer) nc.publish(reply, answer);
            else this.#core.refused('newcomer', 'foreign');
          })
          .catch((why: unknown) =>
            this.#core.log.limited('newcomer', 'warn', 'a machine that wants to join got no answer', {
              why: String(why),
            }),
          )
          .finally(() => {
            this.#busy -= 1;
          });
      },
    });
  }
}
