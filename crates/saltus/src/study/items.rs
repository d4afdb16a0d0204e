//! Values of a TOML file by their keys and kinds.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable as Table, DeValue};

use super::schema::Kind;

type Item<'a> = Spanned<DeValue<'a>>;

pub fn get<'a, 't>(table: &'a Table<'t>, key: &str) -> Option<&'a Item<'t>> {
    table.iter().find(|(name, _)| name.get_ref().as_ref() == key).map(|(_, value)| value)
}

pub fn sub<'a, 't>(table: &'a Table<'t>, key: &str) -> Option<&'a Table<'t>> {
    match get(table, key)?.get_ref() {
        DeValue::Table(inner) => Some(inner),
        _ => None,
    }
}

pub fn tables<'a, 't>(table: &'a Table<'t>, key: &str) -> Vec<(&'a Table<'t>, Range<usize>)> {
    let Some(DeValue::Array(all)) = get(table, key).map(Spanned::get_ref) else { return Vec::new() };
    let of = |item: &'a Item<'t>| match item.get_ref() {
        DeValue::Table(inner) => Some((inner, item.span())),
        _ => None,
    };
    all.iter().filter_map(of).collect()
}

pub fn text(table: &Table, key: &str) -> Option<String> {
    match get(table, key)?.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    }
}

pub fn texts(table: &Table, key: &str) -> Vec<String> {
    let Some(DeValue::Array(all)) = get(table, key).map(Spanned::get_ref) else { return Vec::new() };
    let of = |item: &Item| match item.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    };
    all.iter().filter_map(of).collect()
}

pub fn flag(table: &Table, key: &str) -> bool {
    matches!(get(table, key).map(Spanned::get_ref), Some(DeValue::Boolean(true)))
}

pub fn number(table: &Table, key: &str) -> Option<f64> {
    as_number(get(table, key)?.get_ref())
}

pub fn numbers(value: &DeValue) -> Vec<f64> {
    match value {
        DeValue::Array(all) => all.iter().filter_map(|item| as_number(item.get_ref())).collect(),
        _ => Vec::new(),
    }
}

pub fn whole(table: &Table, key: &str) -> Option<usize> {
    number(table, key).filter(|n| n.fract() == 0.0 && (0.0..1e15).contains(n)).map(|n| n as usize)
}

pub fn as_number(value: &DeValue) -> Option<f64> {
    match value {
        DeValue::Integer(n) => i64::from_str_radix(n.as_str(), n.radix()).ok().map(|n| n as f64),
        DeValue::Float(x) => x.as_str().parse().ok(),
        _ => None,
    }
}

/// A value as Modelica writes it.
pub fn literal(value: &DeValue) -> String {
    match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Array(all) => {
            let elements: Vec<String> = all.iter().map(|item| literal(item.get_ref())).collect();
            format!("{{{}}}", elements.join(", "))
        }
        value => as_number(value).map_or_else(String::new, super::runs::literal),
    }
}

/// Is a table a value, rather than names behind a dot?
pub fn is_value(table: &Table, kind: Kind) -> bool {
    match kind {
        Kind::Table(keys) => {
            table.is_empty()
                || table.iter().any(|(key, value)| {
                    keys.iter().any(|k| k.name == key.get_ref().as_ref())
                        && !matches!(value.get_ref(), DeValue::Table(_))
                })
        }
        Kind::Either(kinds) => kinds.iter().any(|kind| is_value(table, *kind)),
        _ => false,
    }
}

pub fn fits(kind: Kind, value: &DeValue) -> bool {
    match (kind, value) {
        (Kind::Text, DeValue::String(_)) | (Kind::Flag, DeValue::Boolean(_)) => true,
        (Kind::Number, value) => as_number(value).is_some(),
        (Kind::Whole, value @ DeValue::Integer(_)) => as_number(value).is_some_and(|n| n >= 0.0),
        (Kind::Texts, DeValue::Array(all)) => all.iter().all(|item| matches!(item.get_ref(), DeValue::String(_))),
        (Kind::Numbers, DeValue::Array(all)) => all.iter().all(|item| as_number(item.get_ref()).is_some()),
        (Kind::Choice(names), DeValue::String(text)) => names.contains(&text.as_ref()),
        (Kind::Table(_) | Kind::Named(_), DeValue::Table(_)) | (Kind::Tables(_), DeValue::Array(_)) => true,
        (Kind::Either(kinds), value) => kinds.iter().any(|kind| fits(*kind, value)),
        _ => false,
    }
}
