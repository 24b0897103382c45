import { describe, expect, it } from 'vitest';
import { memoryLogger } from '../../../base/log/testing.ts';
import type { LocalTable } from '../ports.ts';
import { PatientTable } from './patient-table.ts';

describe('the table of a member on a full disk', () => {
  it('goes on in memory, says so, and writes everything when there is space', () => {
    const disk = new Map<string, Uint8Array>([['b', Buffer.from('old')]]);
    let isFull = false;
    const full = (): void => {
      if (isFull) throw new Error('database or disk is full');
    };
    const table: LocalTable = {
      get: (_space, key) => disk.get(key),
      all: () => [...disk],
      set: (_space, key, value) => {
        full();
        disk.set(key, value);
      },
      remove: (_space, key) => {
        full();
        disk.delete(key);
      },
    };
    const { log, lines } = memoryLogger();
    const patient = new PatientTable(table, log);
    patient.set('s', 'a', Buffer.from('1'));
    isFull = true;
    patient.set('s', 'a', Buffer.from('2'));
    patient.remove('s', 'b');
    expect(String(patient.get('s', 'a'))).toBe('2');
    expect(patient.get('s', 'b')).toBeUndefined();
    expect(patient.all('s').map(([key, value]) => `${key} ${String(value)}`)).toEqual(['a 2']);
    expect(patient.all('other').map(([key]) => key)).toEqual(['b', 'a'].filter((key) => disk.has(key)));
    expect(lines.join('\n')).toMatch(/disk takes nothing.*disk is full/);
    expect([...disk].map(([key, value]) => `${key} ${String(value)}`)).toEqual(['b old', 'a 1']);
    isFull = false;
    patient.set('s', 'c', Buffer.from('3'));
    expect([...disk].map(([key, value]) => `${key} ${String(value)}`)).toEqual(['a 2', 'c 3']);
  });
});
