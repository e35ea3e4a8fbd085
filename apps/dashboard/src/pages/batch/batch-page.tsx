import { Page } from '../../parts/page.js';

/** To come. */
export const BatchPage = () => <Page title="Batch">To come.</Page>;
