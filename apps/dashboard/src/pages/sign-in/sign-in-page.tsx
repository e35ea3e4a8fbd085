import { Link, useSearch } from '@tanstack/react-router';
import { QueryView } from '../../parts/states.js';
import { useBoot } from '../../session/session.js';
import { Redirect, SignedOutLayout } from '../../shell/gate.js';
import { SignInForm } from '../../shell/sign-in.js';

/** Accepts only addresses of this site, to prevent open redirects. */
const ownAddress = (next: string | undefined): string => (next && /^\/(?![/\\])/.test(next) ? next : '/');

/** Signs in and continues to the requested page. */
export const SignInPage = () => {
  const boot = useBoot();
  const { next } = useSearch({ from: '/sign-in' });
  if (boot.data?.session) return <Redirect address={ownAddress(next)} />;
  return (
    <SignedOutLayout title="Sign in">
      <QueryView query={boot}>
        {({ signup }) => (
          <>
            <SignInForm />
            {signup === 'open' && (
              <p className="hint">
                No account yet? <Link to="/sign-up">Sign up</Link>
              </p>
            )}
          </>
        )}
      </QueryView>
    </SignedOutLayout>
  );
};
