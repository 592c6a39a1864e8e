//! Reads the names of a struct's fields from its `Deserialize` implementation. The error for an unknown argument
//! suggests the closest of these names, without a second list beside the struct.

use serde::de::value::Error;
use serde::de::{Deserialize, Deserializer, Visitor};
use serde::forward_to_deserialize_any;

/// The field names of `T` in JSON; empty if `T` is not a struct.
pub(crate) fn of<T: for<'de> Deserialize<'de>>() -> &'static [&'static str] {
    let mut fields: &'static [&'static str] = &[];
    let _ = T::deserialize(NameCollector(&mut fields));
    fields
}

/// A deserializer that records the field names and then fails.
struct NameCollector<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for NameCollector<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(serde::de::Error::custom("only structs have fields"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
