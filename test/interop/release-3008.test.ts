// Halite × Salt 3008.2.
import { exchangeWith } from '../support/exchange.ts';

exchangeWith('3008.2', 'tcp');
