import { Link } from '@tanstack/react-router';
import { Page } from '../parts/page.js';

/** What stands at an address that leads nowhere. */
export const MissingPage = () => (
  <main className="alone">
    <Page title="There is no such page">
      <p>The address may be mistyped, or what was here was removed.</p>
      <p>
        <Link to="/" className="button primary">
          Go to the start
        </Link>
      </p>
    </Page>
  </main>
);
