import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { ApiError } from '../api/errors.js';
import { useApiMutation } from '../api/use-api-mutation.js';
import { Button } from '../parts/button.js';
import { useDeferredActions } from '../parts/deferred-actions.js';
import { ErrorAlert } from '../parts/states.js';
import { Status } from '../parts/text.js';
import { useSession, useSetSession } from '../session/session.js';

/** The main navigation. Clients rely on these names. */
const NAVIGATION = [
  { to: '/', name: 'Overview' },
  { to: '/checks', name: 'Checks' },
  { to: '/batches', name: 'Batches' },
  { to: '/coverage', name: 'Coverage' },
  { to: '/watches', name: 'Watches' },
  { to: '/evidence', name: 'Evidence' },
  { to: '/deliveries', name: 'Deliveries' },
  { to: '/settings', name: 'Settings' },
] as const;

/** Runs deferred actions, which need the session, then ends the session on the server and in the browser. */
const SignOut = () => {
  const setSession = useSetSession();
  const queries = useQueryClient();
  const deferred = useDeferredActions();
  const signOut = useApiMutation([], async (api) => {
    try {
      await deferred.finish();
      // What a deferred action refetches would be refused.
      await queries.cancelQueries();
      await api.call('DELETE', '/session');
    } catch (error) {
      // With 401 the session has already ended. Otherwise the page stays, and what it was loading must not stay empty.
      if (!(error instanceof ApiError && error.status === 401)) {
        void queries.invalidateQueries();
        throw error;
      }
    }
    setSession(null);
  });
  return (
    <>
      <Button small variant="quiet" isPending={signOut.isPending} onPress={() => signOut.mutate()}>
        Sign out
      </Button>
      <ErrorAlert error={signOut.error} />
    </>
  );
};

/** Layout of the signed-in pages: navigation and account. */
export const Shell = () => {
  const { account } = useSession();
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const focusedPath = useRef(pathname);
  const navigation = useRef<HTMLElement>(null);
  useEffect(() => {
    const nav = navigation.current;
    const current = nav?.querySelector('[aria-current=page]');
    if (pathname === '' || !nav || !current) return;
    // On narrow screens the navigation scrolls sideways; the current link must be visible. Not by scrollIntoView: in Chrome,
    // Tab would then go on from that link instead of “Skip to content”.
    const [shown, link] = [nav.getBoundingClientRect(), current.getBoundingClientRect()];
    nav.scrollBy({ left: link.left + link.width / 2 - shown.left - shown.width / 2 });
  }, [pathname]);
  useEffect(() => {
    if (focusedPath.current === pathname) return;
    focusedPath.current = pathname;
    // After client-side navigation the focus would stay on a removed link.
    main.current?.focus({ preventScroll: true });
  }, [pathname]);

  return (
    <div className="shell">
      <a href="#content" className="skip">
        Skip to content
      </a>
      <header className="side">
        <div className="brand">
          <img src="/app/icon.svg" alt="" width="24" height="24" />
          <span>VAT Validation</span>
        </div>
        <nav ref={navigation} aria-label="Main">
          <ul>
            {NAVIGATION.map(({ to, name }) => (
              <li key={to}>
                <Link to={to} activeOptions={{ exact: to === '/', includeSearch: false }}>
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <div className="who">
          <span className="who-name">{account.name}</span>
          <span className="who-mail">{account.email}</span>
          {account.role === 'auditor' && (
            <span title="You can read everything and change nothing.">
              <Status word="auditor" />
            </span>
          )}
          <SignOut />
        </div>
      </header>
      <main id="content" ref={main} tabIndex={-1}>
        {account.disabled && (
          <p className="banner">
            This account is disabled. You can still view your data, but you cannot start new checks, and webhook
            deliveries are paused. Contact the operator of the service.
          </p>
        )}
        <Outlet />
      </main>
    </div>
  );
};
