// A tar archive of a few small files.

export interface TarMember {
  readonly name: string;
  readonly mode: number;
  readonly text: string;
}

const block = 512;
const record = 10_240;

export function tarOf(members: readonly TarMember[], seconds = Math.floor(Date.now() / 1000)): Buffer {
  const parts = members.flatMap((member) => {
    const data = Buffer.from(member.text);
    return [headOf(member, data.length, seconds), data, Buffer.alloc((block - (data.length % block)) % block)];
  });
  const size = parts.reduce((sum, part) => sum + part.length, 2 * block);
  return Buffer.concat([...parts, Buffer.alloc(2 * block + ((record - (size % record)) % record))]);
}

function headOf({ name, mode }: TarMember, size: number, seconds: number): Buffer {
  const head = Buffer.alloc(block);
  const octal = (value: number, at: number, width: number): void => {
    head.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at, 'latin1');
  };
  head.write(name, 0, 100, 'latin1');
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(seconds, 136, 12);
  head.write('        ', 148, 'latin1');
  head.write('0', 156, 'latin1');
  head.write('ustar\x0000', 257, 'latin1');
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return head;
}
