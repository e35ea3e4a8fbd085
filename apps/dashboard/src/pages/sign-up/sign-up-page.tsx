import { Gate } from '../../shell/gate.js';

/** Placeholder of the next commit. */
export const SignUpPage = () => <Gate title="Sign up">.</Gate>;
