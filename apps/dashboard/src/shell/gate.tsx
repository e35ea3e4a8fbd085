import { Link, useNavigate, useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { LiveUpdates } from '../live/live-updates.js';
import { Loading, Refusal } from '../parts/states.js';
import { Page } from '../parts/text.js';
import { useBoot } from '../session/session.js';
import { Shell } from './shell.js';

/** The frame of the pages before one is signed in. */
export const Gate = ({ title, children }: { title: string; children: ReactNode }) => (
  <main className="gate">
    <title>{`${title} · VAT Validation Service`}</title>
    <div className="gate-card">
      <div className="brand">
        <img src="/app/icon.svg" alt="" width="28" height="28" />
        <span>VAT Validation Service</span>
      </div>
      <h1>{title}</h1>
      {children}
    </div>
  </main>
);

/**
 * Leads to another address of the dashboard, once. The router's own component goes again whenever it is drawn anew, which
 * what it leads to can bring about without end.
 */
export const GoTo = ({ address }: { address: string }) => {
  const navigate = useNavigate();
  useEffect(() => void navigate({ to: '.', href: address, replace: true }), [navigate, address]);
  return null;
};

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

/** Leads to the sign-in page and remembers where one wanted to go: the address when this was shown, for it changes on the way. */
const ToSignIn = () => {
  const { state } = useRouter();
  const [wanted] = useState(state.location.href);
  return <GoTo address={wanted === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(wanted)}`} />;
};

/** Everything that needs a session: asks who is there, and sends visitors to sign in and then back to where they wanted. */
export const SignedIn = () => {
  const boot = useBoot();
  if (boot.data === undefined) {
    return (
      <main className="alone">{boot.error ? <Refusal error={boot.error} onRetry={boot.refetch} /> : <Loading />}</main>
    );
  }
  if (!boot.data.session) return <ToSignIn />;
  return (
    <LiveUpdates>
      <Shell />
    </LiveUpdates>
  );
};
