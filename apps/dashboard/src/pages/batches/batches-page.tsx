import { Page } from '../../parts/page.js';

/** To come. */
export const BatchesPage = () => <Page title="Batches">To come.</Page>;
