model TypographicCharacters "Characters that word processors put into source text"
  Real x = 2 – 1;
//           ^ error[E0101]: expected Modelica text, found the character `–`
//             hint: the minus sign of Modelica is the hyphen `-`
  String s = “text”;
//           ^ error[E0101]: expected Modelica text, found the character `“`
//             hint: strings stand in straight double quotes: "…"
//                ^ error[E0101]: expected Modelica text, found the character `”`
//                  hint: strings stand in straight double quotes: "…"
end TypographicCharacters;
