import { Link } from '@tanstack/react-router';
import { Page } from './page.js';

type NotFoundProps = { what: string; list: '/checks' | '/batches' | '/watches' | '/deliveries' };

/** What stands at the address of a thing that is not there, is no longer, or is somebody else's. */
export const NotFound = ({ what, list }: NotFoundProps) => (
  <Page title={`${what} not found`}>
    <p role="alert" className="refusal">
      <span>
        <strong>{what} not found.</strong> It may have been removed, or the address is mistyped.{' '}
        <Link to={list}>Go back to the list.</Link>
      </span>
    </p>
  </Page>
);
