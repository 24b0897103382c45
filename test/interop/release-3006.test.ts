// Halite × Salt 3006.27.
import { exchangeWith } from '../support/exchange.ts';

exchangeWith('3006.27', 'zeromq');
