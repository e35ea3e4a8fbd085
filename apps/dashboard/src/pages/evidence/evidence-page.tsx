import { Page } from '../../parts/page.js';

/** To come. */
export const EvidencePage = () => <Page title="Evidence">To come.</Page>;
