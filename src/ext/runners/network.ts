// Runner `network`: wakes sleeping machines over the network.
import { createSocket } from 'node:dgram';
import { defineRunner, dictGet, HaliteError, isDict, masterFn, p } from 'halite/sdk';
import { readFileSync } from 'halite/sdk/fs';

const target = {
  bcast: p.string({ default: '255.255.255.255', doc: 'where to send it' }),
  destport: p.int({ default: 9, fractions: 'cut', doc: 'the port' }),
};

/** Six times FF, then the address sixteen times. */
function magicPacket(mac: string): Buffer {
  const digits = mac.replace(/[^0-9a-f]/gi, '');
  if (digits.length !== 12) throw new HaliteError('call.arguments', `Invalid MAC address: ${mac}`);
  const address = Buffer.from(digits, 'hex');
  return Buffer.concat([Buffer.alloc(6, 0xff), ...Array.from({ length: 16 }, () => address)]);
}

async function wake(mac: string, bcast: string, port: number): Promise<boolean> {
  const packet = magicPacket(mac);
  const socket = createSocket('udp4');
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.bind(0, () => {
        socket.setBroadcast(true);
        socket.send(packet, port, bcast, (error) => (error ? reject(error) : resolve()));
      });
    });
    return true;
  } finally {
    socket.close();
  }
}

export default defineRunner({
  name: 'network',
  doc: 'Wake machines.',
  functions: {
    wol: masterFn({
      doc: 'Sends a wake-up packet to one address.',
      examples: ['salt-run network.wol 08-00-27-13-69-77', 'salt-run network.wol 080027136977 255.255.255.255 7'],
      params: { mac: p.text({ doc: 'the hardware address' }), ...target },
      run: ({ mac, bcast, destport }) => wake(mac, bcast, destport),
    }),
    wollist: masterFn({
      doc: 'Sends a wake-up packet to every address of a file, one a line.',
      examples: ['salt-run network.wollist /path/to/maclist'],
      params: { maclist: p.path({ doc: 'the file' }), ...target },
      async run({ maclist, bcast, destport }, ctx) {
        for (const mac of readFileSync(maclist, 'utf8')
          .split('\n')
          .map((line) => line.trim())) {
          if (mac === '') continue;
          await wake(mac, bcast, destport);
          ctx.print(`Waking up ${mac}`);
        }
        return true;
      },
    }),
    wolmatch: masterFn({
      doc: 'Sends wake-up packets to the hardware addresses that the grains of minions name.',
      examples: ["salt-run network.wolmatch 'web*'"],
      params: {
        tgt: p.oneOf(['string', 'list'], { doc: 'which minions' }),
        tgt_type: p.string({ default: 'glob', doc: 'how to read the target' }),
        ...target,
      },
      async run({ tgt, tgt_type, bcast, destport }, ctx) {
        const woken: string[] = [];
        for (const id of ctx.master.fleet.match(tgt as string, tgt_type)) {
          const interfaces = dictGet((await ctx.master.fleet.grains(id)) ?? {}, 'hwaddr_interfaces');
          if (!isDict(interfaces) || interfaces instanceof Map) continue;
          for (const [name, mac] of Object.entries(interfaces)) {
            if (name === 'lo' || typeof mac !== 'string') continue;
            await wake(mac, bcast, destport);
            ctx.print(`Waking up ${mac}`);
            woken.push(mac);
          }
        }
        return woken;
      },
    }),
  },
});
