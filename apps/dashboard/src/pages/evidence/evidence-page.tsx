import { Page } from '../../parts/page.js';
import { AnchorsCard } from './anchors-card.js';
import { ExportCard } from './export-card.js';

/** What proves the account's checks to others: the dossier to take away, and the chain of anchors that fixes them in time. */
export const EvidencePage = () => (
  <Page title="Evidence">
    <ExportCard />
    <AnchorsCard />
  </Page>
);
