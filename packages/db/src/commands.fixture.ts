import fc from 'fast-check';

/** A step of a state machine: what it does to the database, what it expects, and what it changes in the model. */
type Step<Model, Input> = (model: Model, input: Input) => Promise<void>;

class Command<Model extends object, Input> implements fc.AsyncCommand<Model, Model> {
  constructor(
    private readonly name: string,
    private readonly input: Input,
    private readonly step: Step<Model, Input>,
    private readonly verify: (model: Model) => Promise<void>,
  ) {}
  check = () => true;
  async run(model: Model): Promise<void> {
    await this.step(model, this.input);
    await this.verify(model);
  }
  toString = () => `${this.name}(${JSON.stringify(this.input)})`;
}

/**
 * A property over sequences of steps: each is run on the database and on the model, then `verify` compares the two; `end`
 * runs after the last one. `steps`: by name, with the arbitrary of its input and how often it is chosen, once by default.
 */
export const stateMachine = <Model extends object>({
  start,
  steps,
  verify,
  end,
  maxSteps,
}: {
  start: () => Promise<Model>;
  steps: (
    step: <Input>(name: string, input: fc.Arbitrary<Input>, run: Step<Model, Input>, times?: number) => void,
  ) => void;
  verify: (model: Model) => Promise<void>;
  end: (model: Model) => Promise<void>;
  maxSteps: number;
}) => {
  const arbitraries: fc.Arbitrary<fc.AsyncCommand<Model, Model>>[] = [];
  steps((name, input, run, times = 1) => {
    const arbitrary = input.map((value) => new Command(name, value, run, verify));
    arbitraries.push(...Array.from({ length: times }, () => arbitrary));
  });
  return fc.asyncProperty(fc.commands(arbitraries, { maxCommands: maxSteps, size: 'max' }), async (commands) => {
    const model = await start();
    await fc.asyncModelRun(() => ({ model, real: model }), commands);
    await end(model);
  });
};

/** The element that a number of any size selects; null of an empty list. */
export const pick = <T>(list: readonly T[], n: number): T | null => list[n % Math.max(1, list.length)] ?? null;
