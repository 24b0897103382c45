// Halite × Salt 3007.14.
import { exchangeWith } from '../support/exchange.ts';

exchangeWith('3007.14', 'tcp');
