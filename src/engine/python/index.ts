// The bridge to users' Python: nothing is loaded or started before a Python file is used.
import type { PythonSource } from '../../extend/loader/index.ts';
import type { BridgeOptions, PythonBridge } from './host.ts';

export interface Python {
  /** For loaders. */
  readonly source: PythonSource;
  /** Ends the worker, if there is one. */
  release(): void;
}

export function providePython(options: BridgeOptions): Python {
  let opening: Promise<PythonBridge> | undefined;
  let bridge: PythonBridge | undefined;
  return {
    source() {
      opening ??= import('./host.ts').then((module) => {
        bridge = new module.PythonBridge(options);
        return bridge;
      });
      return opening;
    },
    release: () => bridge?.release(),
  };
}
