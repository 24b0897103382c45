// The syntax tree of a template.
import type { PyValue } from '../runtime/value.ts';

interface At {
  readonly line: number;
}

export type BinaryOperator = 'add' | 'sub' | 'mul' | 'div' | 'floordiv' | 'mod' | 'pow';
export type CompareOperator = 'eq' | 'ne' | 'lt' | 'lteq' | 'gt' | 'gteq' | 'in' | 'notin';

export interface Arguments {
  readonly args: readonly Expr[];
  readonly kwargs: readonly { readonly key: string; readonly value: Expr }[];
  readonly dynArgs: Expr | undefined;
  readonly dynKwargs: Expr | undefined;
}

export type Name = At & { readonly kind: 'Name'; readonly name: string; ctx: 'load' | 'store' | 'param' };
/** `ns.attr` as a target of `set`. */
export type NSRef = At & { readonly kind: 'NSRef'; readonly name: string; readonly attr: string };
export type Tuple = At & { readonly kind: 'Tuple'; readonly items: readonly Expr[] };
export type Filter = At &
  Arguments & { readonly kind: 'Filter'; readonly node: Expr | undefined; readonly name: string };
export type Test = At & Arguments & { readonly kind: 'Test'; readonly node: Expr; readonly name: string };
export type Call = At & Arguments & { readonly kind: 'Call'; readonly node: Expr };
export type Slice = At & {
  readonly kind: 'Slice';
  readonly start: Expr | undefined;
  readonly stop: Expr | undefined;
  readonly step: Expr | undefined;
};
export type CondExpr = At & {
  readonly kind: 'CondExpr';
  readonly test: Expr;
  readonly yes: Expr;
  readonly no: Expr | undefined;
};

export type Expr =
  | Name
  | NSRef
  | Tuple
  | Filter
  | Test
  | Call
  | Slice
  | CondExpr
  | (At & { readonly kind: 'Const'; readonly value: PyValue })
  | (At & { readonly kind: 'TemplateData'; readonly data: string })
  | (At & { readonly kind: 'List'; readonly items: readonly Expr[] })
  | (At & { readonly kind: 'Dict'; readonly items: readonly { readonly key: Expr; readonly value: Expr }[] })
  | (At & { readonly kind: 'Getattr'; readonly node: Expr; readonly attr: string })
  | (At & { readonly kind: 'Getitem'; readonly node: Expr; readonly arg: Expr })
  | (At & { readonly kind: 'Concat'; readonly nodes: readonly Expr[] })
  | (At & {
      readonly kind: 'Compare';
      readonly expr: Expr;
      readonly ops: readonly { readonly op: CompareOperator; readonly expr: Expr }[];
    })
  | (At & { readonly kind: 'Binary'; readonly op: BinaryOperator; readonly left: Expr; readonly right: Expr })
  | (At & { readonly kind: 'And' | 'Or'; readonly left: Expr; readonly right: Expr })
  | (At & { readonly kind: 'Not' | 'Neg' | 'Pos'; readonly node: Expr });

export type Target = Name | NSRef | Tuple;

export type For = At & {
  readonly kind: 'For';
  readonly target: Target;
  readonly iter: Expr;
  readonly body: readonly Stmt[];
  readonly else: readonly Stmt[];
  readonly test: Expr | undefined;
  readonly recursive: boolean;
};
export type If = At & {
  readonly kind: 'If';
  test: Expr;
  body: readonly Stmt[];
  readonly elifs: If[];
  else: readonly Stmt[];
};
export type Macro = At & {
  readonly kind: 'Macro';
  readonly name: string;
  readonly args: readonly Name[];
  readonly defaults: readonly Expr[];
  readonly body: readonly Stmt[];
};
export type CallBlock = At & {
  readonly kind: 'CallBlock';
  readonly call: Call;
  readonly args: readonly Name[];
  readonly defaults: readonly Expr[];
  readonly body: readonly Stmt[];
};
export type FilterBlock = At & {
  readonly kind: 'FilterBlock';
  readonly body: readonly Stmt[];
  readonly filter: Filter;
};
export type With = At & {
  readonly kind: 'With';
  readonly targets: readonly Target[];
  readonly values: readonly Expr[];
  readonly body: readonly Stmt[];
};
export type Block = At & {
  readonly kind: 'Block';
  readonly name: string;
  readonly body: readonly Stmt[];
  readonly scoped: boolean;
  readonly required: boolean;
};
export type Include = At & {
  readonly kind: 'Include';
  readonly template: Expr;
  readonly withContext: boolean;
  readonly ignoreMissing: boolean;
};
export type Import = At & {
  readonly kind: 'Import';
  readonly template: Expr;
  readonly target: string;
  readonly withContext: boolean;
};
export type FromImport = At & {
  readonly kind: 'FromImport';
  readonly template: Expr;
  readonly names: readonly { readonly name: string; readonly alias: string }[];
  readonly withContext: boolean;
};
export type Assign = At & { readonly kind: 'Assign'; readonly target: Target; readonly node: Expr };
export type AssignBlock = At & {
  readonly kind: 'AssignBlock';
  readonly target: Target;
  readonly filter: Filter | undefined;
  readonly body: readonly Stmt[];
};
export type Output = At & { readonly kind: 'Output'; readonly nodes: readonly Expr[] };
export type AutoEscape = At & { readonly kind: 'AutoEscape'; readonly value: Expr; readonly body: readonly Stmt[] };
/** Start and end of a timed section (`profile`, `import_yaml`…). */
export type Profile = At & {
  readonly kind: 'Profile';
  readonly phase: 'start' | 'end';
  readonly id: string;
  readonly label: Expr | undefined;
  readonly source: string;
};

export type Stmt =
  | For
  | If
  | Macro
  | CallBlock
  | FilterBlock
  | With
  | Block
  | Include
  | Import
  | FromImport
  | Assign
  | AssignBlock
  | Output
  | AutoEscape
  | Profile
  | (At & { readonly kind: 'Extends'; readonly template: Expr })
  | (At & { readonly kind: 'ExprStmt'; readonly node: Expr })
  | (At & { readonly kind: 'Break' | 'Continue' });

export type Node = Expr | Stmt;

function argumentNodes(node: Arguments): Expr[] {
  const out: Expr[] = [...node.args, ...node.kwargs.map(({ value }) => value)];
  if (node.dynArgs !== undefined) out.push(node.dynArgs);
  if (node.dynKwargs !== undefined) out.push(node.dynKwargs);
  return out;
}

const present = (...nodes: (Expr | undefined)[]): Expr[] => nodes.filter((node) => node !== undefined);

function expressionChildren(node: Expr): readonly Node[] {
  switch (node.kind) {
    case 'Tuple':
    case 'List':
      return node.items;
    case 'Dict':
      return node.items.flatMap(({ key, value }) => [key, value]);
    case 'Filter':
      return [...present(node.node), ...argumentNodes(node)];
    case 'Test':
    case 'Call':
      return [node.node, ...argumentNodes(node)];
    case 'Slice':
      return present(node.start, node.stop, node.step);
    case 'CondExpr':
      return present(node.test, node.yes, node.no);
    case 'Getattr':
      return [node.node];
    case 'Getitem':
      return [node.node, node.arg];
    case 'Concat':
      return node.nodes;
    case 'Compare':
      return [node.expr, ...node.ops.map(({ expr }) => expr)];
    case 'Binary':
    case 'And':
    case 'Or':
      return [node.left, node.right];
    case 'Not':
    case 'Neg':
    case 'Pos':
      return [node.node];
    default:
      return [];
  }
}

/** Children in the order in which the reference visits them, which determines how names are resolved. */
export function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'For':
      return [node.target, node.iter, ...node.body, ...node.else, ...present(node.test)];
    case 'If':
      return [node.test, ...node.body, ...node.elifs, ...node.else];
    case 'Macro':
      return [...node.args, ...node.defaults, ...node.body];
    case 'CallBlock':
      return [node.call, ...node.args, ...node.defaults, ...node.body];
    case 'FilterBlock':
      return [...node.body, node.filter];
    case 'With':
      return [...node.targets, ...node.values, ...node.body];
    case 'Block':
      return node.body;
    case 'Include':
    case 'Import':
    case 'FromImport':
    case 'Extends':
      return [node.template];
    case 'Assign':
      return [node.target, node.node];
    case 'AssignBlock':
      return [node.target, ...present(node.filter), ...node.body];
    case 'Output':
      return node.nodes;
    case 'AutoEscape':
      return [node.value, ...node.body];
    case 'ExprStmt':
      return [node.node];
    case 'Profile':
      return present(node.label);
    case 'Break':
    case 'Continue':
      return [];
    default:
      return expressionChildren(node);
  }
}

/** Calls `see` for all nodes at and below the given ones, in visiting order. */
export function visitNodes(nodes: readonly Node[], see: (node: Node) => void): void {
  for (const node of nodes) {
    see(node);
    const children = childrenOf(node);
    if (children.length > 0) visitNodes(children, see);
  }
}
