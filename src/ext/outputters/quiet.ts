// Outputter `quiet`: nothing.
import { defineOutputter } from 'halite/sdk';

export default defineOutputter({ name: 'quiet', doc: 'Prints nothing.', render: () => '' });
