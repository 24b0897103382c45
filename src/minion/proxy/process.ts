// The program of proxy processes.
import { startProxyProcess } from '../../engine/proxy/process.ts';

startProxyProcess();
