import { Page } from '../../parts/page.js';

/** To come. */
export const WatchPage = () => <Page title="Watch">To come.</Page>;
