//! Tokens: a kind and a byte range, never a copy of the text.

/// One word, number, string or symbol. Comments and white space are not tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    pub kind: Kind,
    pub start: u32,
    pub end: u32,
}

macro_rules! kinds {
    (
        special { $($special:ident $special_text:literal,)* }
        symbols { $($symbol:ident $symbol_text:literal,)* }
        keywords { $($keyword:ident $keyword_text:literal,)* }
    ) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Kind {
            $($special,)* $($symbol,)* $($keyword,)*
        }

        impl Kind {
            /// The spelling of symbols and keywords; a description of the other kinds.
            pub fn text(self) -> &'static str {
                match self {
                    $(Kind::$special => $special_text,)*
                    $(Kind::$symbol => $symbol_text,)*
                    $(Kind::$keyword => $keyword_text,)*
                }
            }

            pub fn is_keyword(self) -> bool {
                matches!(self, $(Kind::$keyword)|*)
            }

            #[cfg(test)]
            const KEYWORDS: &'static [(&'static str, Kind)] = &[$(($keyword_text, Kind::$keyword),)*];
        }
    };
}

kinds! {
    special {
        Eof "the end of the file",
        Ident "an identifier",
        String "a string",
        Integer "a number",
        Real "a number",
    }
    symbols {
        LeftParen "(",
        RightParen ")",
        LeftBracket "[",
        RightBracket "]",
        LeftBrace "{",
        RightBrace "}",
        Comma ",",
        Semicolon ";",
        Colon ":",
        Dot ".",
        Equals "=",
        Assign ":=",
        Plus "+",
        Minus "-",
        Star "*",
        Slash "/",
        Caret "^",
        DotPlus ".+",
        DotMinus ".-",
        DotStar ".*",
        DotSlash "./",
        DotCaret ".^",
        Less "<",
        LessEqual "<=",
        Greater ">",
        GreaterEqual ">=",
        EqualEqual "==",
        NotEqual "<>",
    }
    keywords {
        Algorithm "algorithm",
        And "and",
        Annotation "annotation",
        Block "block",
        Break "break",
        Class "class",
        Connect "connect",
        Connector "connector",
        Constant "constant",
        Constrainedby "constrainedby",
        Der "der",
        Discrete "discrete",
        Each "each",
        Else "else",
        Elseif "elseif",
        Elsewhen "elsewhen",
        Encapsulated "encapsulated",
        End "end",
        Enumeration "enumeration",
        Equation "equation",
        Expandable "expandable",
        Extends "extends",
        External "external",
        False "false",
        Final "final",
        Flow "flow",
        For "for",
        Function "function",
        If "if",
        Import "import",
        Impure "impure",
        In "in",
        Initial "initial",
        Inner "inner",
        Input "input",
        Loop "loop",
        Model "model",
        Not "not",
        Operator "operator",
        Or "or",
        Outer "outer",
        Output "output",
        Package "package",
        Parameter "parameter",
        Partial "partial",
        Protected "protected",
        Public "public",
        Pure "pure",
        Record "record",
        Redeclare "redeclare",
        Replaceable "replaceable",
        Return "return",
        Stream "stream",
        Then "then",
        True "true",
        Type "type",
        When "when",
        While "while",
        Within "within",
    }
}

impl Kind {
    pub fn is_opening(self) -> bool {
        matches!(self, Kind::LeftParen | Kind::LeftBracket | Kind::LeftBrace)
    }

    pub fn is_closing(self) -> bool {
        matches!(self, Kind::RightParen | Kind::RightBracket | Kind::RightBrace)
    }

    /// `parameter`, `model`, `import`, …: words that can only begin a declaration.
    pub fn begins_element(self) -> bool {
        use Kind::*;
        matches!(
            self,
            Import
                | Extends
                | Redeclare
                | Final
                | Inner
                | Outer
                | Replaceable
                | Flow
                | Stream
                | Discrete
                | Parameter
                | Constant
                | Input
                | Output
        ) || self.begins_class()
    }

    /// Words that begin a class definition. `pure` is left out because it may be a call as well.
    pub fn begins_class(self) -> bool {
        use Kind::*;
        matches!(
            self,
            Encapsulated
                | Partial
                | Class
                | Model
                | Block
                | Connector
                | Expandable
                | Record
                | Type
                | Package
                | Function
                | Operator
                | Impure
        )
    }
}

/// The keyword spelled `word`, or `Ident`. `time` is treated as an ordinary (predefined) name.
pub fn keyword_or_ident(word: &[u8]) -> Kind {
    if word.len() < 2 || word.len() > 13 {
        return Kind::Ident;
    }
    use Kind::*;
    let candidates: &[Kind] = match word[0] {
        b'a' => &[Algorithm, And, Annotation],
        b'b' => &[Block, Break],
        b'c' => &[Class, Connect, Connector, Constant, Constrainedby],
        b'd' => &[Der, Discrete],
        b'e' => {
            &[Each, Else, Elseif, Elsewhen, Encapsulated, End, Enumeration, Equation, Expandable, Extends, External]
        }
        b'f' => &[False, Final, Flow, For, Function],
        b'i' => &[If, Import, Impure, In, Initial, Inner, Input],
        b'l' => &[Loop],
        b'm' => &[Model],
        b'n' => &[Not],
        b'o' => &[Operator, Or, Outer, Output],
        b'p' => &[Package, Parameter, Partial, Protected, Public, Pure],
        b'r' => &[Record, Redeclare, Replaceable, Return],
        b's' => &[Stream],
        b't' => &[Then, True, Type],
        b'w' => &[When, While, Within],
        _ => return Ident,
    };
    candidates.iter().copied().find(|k| k.text().as_bytes() == word).unwrap_or(Ident)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_is_found_by_its_spelling() {
        for &(text, kind) in Kind::KEYWORDS {
            assert_eq!(keyword_or_ident(text.as_bytes()), kind, "{text}");
        }
        assert_eq!(keyword_or_ident(b"models"), Kind::Ident);
        assert_eq!(keyword_or_ident(b"Model"), Kind::Ident);
    }
}
