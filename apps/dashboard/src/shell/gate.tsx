import { Link, useNavigate, useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { LiveUpdates } from '../live/live-updates.js';
import { ErrorAlert, Loading } from '../parts/states.js';
import { Brand, Page } from '../parts/text.js';
import { shownSession, useBoot, userOf } from '../session/session.js';
import { Shell } from './shell.js';
import { SignInAgain } from './sign-in.js';

/** Layout of the sign-in and sign-up pages. */
export const SignedOutLayout = ({ title, children }: { title: string; children: ReactNode }) => (
  <main className="gate">
    <title>{`${title} · VAT Validation Service`}</title>
    <div className="gate-card">
      <div className="brand">
        <Brand />
      </div>
      <h1>{title}</h1>
      {children}
    </div>
  </main>
);

/**
 * Redirects once to another address of the dashboard. The component of the router navigates on every render, which can cause
 * an endless loop.
 */
export const Redirect = ({ address }: { address: string }) => {
  const navigate = useNavigate();
  useEffect(() => void navigate({ to: '.', href: address, replace: true }), [navigate, address]);
  return null;
};

/** The page for unknown addresses. */
export const NotFoundPage = () => (
  <main className="alone">
    <Page title="Page not found">
      <p>The address may be wrong, or the page may have been removed.</p>
      <p>
        <Link to="/" className="button primary">
          Go to the overview
        </Link>
      </p>
    </Page>
  </main>
);

/** Redirects to the sign-in page with the current address as `next`. The address is captured once, since it changes during the redirect. */
const RedirectToSignIn = () => {
  const { state } = useRouter();
  const [requested] = useState(state.location.href);
  return <Redirect address={requested === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(requested)}`} />;
};

/**
 * Layout of all pages that need a session. Redirects visitors to the sign-in page, and back after it. When the session ends
 * later, the page with what was typed stays beneath the dialog to sign in again.
 */
export const SignedIn = () => {
  const boot = useBoot();
  if (boot.data === undefined) {
    return (
      <main className="alone">
        {boot.error ? <ErrorAlert error={boot.error} onRetry={boot.refetch} /> : <Loading />}
      </main>
    );
  }
  const session = shownSession(boot.data);
  if (!session) return <RedirectToSignIn />;
  // What a page holds, such as a key that is shown once, is of one user.
  return (
    <LiveUpdates key={userOf(session)}>
      <Shell />
      {!boot.data.session && <SignInAgain email={session.account.email} />}
    </LiveUpdates>
  );
};
