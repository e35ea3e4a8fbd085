import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { ApiError } from '../api/errors.js';
import { useChange } from '../api/use-change.js';
import { Button } from '../parts/button.js';
import { usePlanned } from '../parts/planned-acts.js';
import { Refusal } from '../parts/states.js';
import { useEnter, useSession } from '../session/session.js';

/** The pages one can always go to, by the names of contract part 2 §9. */
const NAVIGATION = [
  { to: '/', name: 'Overview' },
  { to: '/checks', name: 'Checks' },
  { to: '/batches', name: 'Batches' },
  { to: '/watches', name: 'Watches' },
  { to: '/evidence', name: 'Evidence' },
  { to: '/deliveries', name: 'Deliveries' },
  { to: '/settings', name: 'Settings' },
] as const;

/** Does what is still put off, which needs the session; then ends it on the server, then here. */
const SignOut = () => {
  const enter = useEnter();
  const planned = usePlanned();
  const signOut = useChange([], async (api) => {
    try {
      await planned.finish();
      await api.call('DELETE', '/session');
    } catch (error) {
      // A session that has ended already is what was wanted.
      if (!(error instanceof ApiError && error.status === 401)) throw error;
    }
    enter(null);
  });
  return (
    <>
      <Button small look="quiet" isPending={signOut.isPending} onPress={() => signOut.mutate(undefined)}>
        Sign out
      </Button>
      <Refusal error={signOut.error} />
    </>
  );
};

/** The frame around every page of an account: where one is, where one can go, who is signed in. */
export const Shell = () => {
  const { account } = useSession();
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const shown = useRef(pathname);
  const navigation = useRef<HTMLElement>(null);
  useEffect(() => {
    // On narrow screens the links scroll sideways; the present one must be among those in sight.
    if (pathname !== '') {
      navigation.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
    }
  }, [pathname]);
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    // A page that changes without being loaded would leave the focus on a link that is gone.
    main.current?.focus({ preventScroll: true });
  }, [pathname]);

  return (
    <div className="shell">
      <a href="#content" className="skip">
        Skip to the content
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
          <SignOut />
        </div>
      </header>
      <main id="content" ref={main} tabIndex={-1}>
        {account.disabled && (
          <p className="banner">
            This account is disabled: everything can be read, no new work is started, and webhook deliveries wait until
            it is enabled. Contact the operator of the service.
          </p>
        )}
        <Outlet />
      </main>
    </div>
  );
};
