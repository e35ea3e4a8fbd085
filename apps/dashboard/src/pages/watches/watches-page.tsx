import { Page } from '../../parts/page.js';

/** To come. */
export const WatchesPage = () => <Page title="Watches">To come.</Page>;
